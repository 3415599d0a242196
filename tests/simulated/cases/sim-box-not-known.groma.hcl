replace_settings {
  on_unknown = "warn"
}

replace_rule "name-again" {
  resource  = "sim_box"
  logic     = "NOT"
  reasoning = "Names of boxes are unique"
  predicate "field_changed" {
    field   = "name"
    against = "create"
  }
}

replace_rule "not-known" {
  resource = "sim_box"
  expr     = "(disk OR private OR flag) AND link AND NOT tier"
  behavior = "auto"
  predicate "has_attached_resources" "disk" {
    resource_types  = ["disk"]
    check_conflicts = true
    exclusive       = ["source"]
  }
  predicate "field_equals" "private" {
    field = "cfg.net.private"
    value = true
    on    = "new"
  }
  predicate "state_check" "flag" {
    condition = new.blob.private && !changed("tags")
  }
  predicate "resource_count" "link" {
    resource_type = "sim_link"
    operator      = ">="
    count         = 1
  }
  predicate "field_matches" "tier" {
    field   = "labels[\"tier\"]"
    pattern = "^w"
    on      = "new"
  }
}

replace_rule "hidden" {
  resource = "sim_box"
  logic    = "AND"
  predicate "field_changed" "zone" {
    field = "zone"
  }
  predicate "field_changed" "env" {
    field = "labels[\"env\"]"
  }
}

replace_rule "looks-at-what-is-hidden" {
  resource = "sim_box"
  predicate "field_equals" {
    field = "zone"
    value = "zone-a"
  }
}
