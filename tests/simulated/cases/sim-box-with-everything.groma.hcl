condition "same-name" {
  logic = "NOT"
  predicate "field_changed" "n" {
    field   = "name"
    against = "create"
  }
}

replace_rule "box-name" {
  resource  = "sim_box"
  use       = ["same-name"]
  reasoning = "Names of boxes are unique"
}

replace_rule "box-in-use" {
  resource  = "sim_box"
  order     = "create_first"
  reasoning = "Somebody uses the old box"
  predicate "has_attached_resources" "users" {
    resource_types  = ["sim_user"]
    check_conflicts = true
  }
}

replace_rule "box-everything" {
  resource  = "sim_box"
  fields    = ["cfg.net.private", "ports", "secret"]
  expr      = "(a OR b OR c) AND NOT (d AND e) OR f"
  reasoning = "Everything at once"
  predicate "field_changed" "a" {
    field     = "size"
    threshold = "10%"
  }
  predicate "field_changed" "b" {
    field        = "ports"
    ignore_order = true
  }
  predicate "field_changed" "c" {
    field = "secret"
  }
  predicate "field_matches" "d" {
    field = "labels[\"env\"]"
    glob  = "p*"
    on    = "new"
  }
  predicate "has_attached_resources" "e" {
    resource_types  = ["disk"]
    check_conflicts = true
    exclusive       = ["source"]
  }
  predicate "state_check" "f" {
    condition = old.size > 10 && changed("zone")
  }
}
