attachment "disk" {
  block     = "disk"
  exclusive = ["source"]
}
condition "grown" {
  predicate "field_changed" "size" {
    field     = "size"
    threshold = "10%"
  }
}
replace_rule "boxes" {
  resource    = "sim_box"
  fields      = ["name", "labels[\"env\"]"]
  target      = ["sim_box.a"]
  order       = "create_first"
  behavior    = "auto"
  on_unknown  = "match"
  suggestions = ["a", "b"]
  use         = ["grown"]
  expr        = "(A OR B) AND disks AND grown AND g"
  predicate "field_equals" {
    field  = "zone"
    values = ["a", null]
  }
  predicate "field_equals" {
    field = "size"
    value = 3
  }
  predicate "has_attached_resources" "disks" {
    resource_types  = ["disk"]
    check_conflicts = true
  }
  group "g" {
    logic = "NOT"
    predicate "state_check" "s" {
      condition = old.size > 10
    }
  }
}
replace_settings {
  mode = "auto"
}
