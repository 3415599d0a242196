replace_rule "linode-root-pass" {
  resource = "linode_instance"
  field    = "root_pass"
  expr     = "A AND NOT B"
  behavior = "auto"
  predicate "field_equals" {
    field       = "type"
    values      = ["g6-standard-1", "g6-standard-2"]
    description = "Instance type requires special handling"
  }
  predicate "field_changed" {
    field       = "label"
    against     = "create"
    description = "Label changes, so no clash"
  }
  reasoning   = "Labels are unique per account: the old instance must go first"
  suggestions = ["Give the replacement another label"]
}
