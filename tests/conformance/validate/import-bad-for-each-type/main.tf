import {
  for_each = 5
  to       = terraform_data.a[each.key]
  id       = "x"
}
resource "terraform_data" "a" {
  for_each = {}
}
