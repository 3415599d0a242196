condition "same-name" {
  logic = "NOT"
  predicate "field_changed" "n" {
    field   = "name"
    against = "create"
  }
}
condition "held" {
  predicate "has_attached_resources" "listeners" {
    resource_types  = ["aws_lb_listener", "aws_lb_listener_rule"]
    check_conflicts = true
  }
}
replace_rule "tg-in-use" {
  resource  = "aws_lb_target_group"
  order     = "create_first"
  behavior  = "auto"
  use       = ["held", "same-name"]
  expr      = "held AND NOT same-name"
  reasoning = "A listener still uses the old target group"
}
replace_rule "tg-name-clash" {
  resource  = "aws_lb_target_group"
  fields    = ["port", "protocol", "target_type"]
  order     = "delete_first"
  behavior  = "auto"
  use       = ["held", "same-name"]
  expr      = "same-name AND NOT held"
  reasoning = "Target group names are unique"
}
