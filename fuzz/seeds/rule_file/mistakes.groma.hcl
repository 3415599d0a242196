replace_rule "r" {
  resource = "sim_box"
  ordre    = "delete_first"
  field    = "disk["
  expr     = "A AND"
  predicate "field_chnged" {
    field = "name"
  }
  predicate "resource_count" {
    resource_type = "sim_user"
    operator      = "=>"
    count         = 1
  }
}
condition "a" {
  use = ["a", "b"]
}
wait "sim_box" {
  until = self.status == "up"
}
