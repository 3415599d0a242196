locals {
  ids = { a = "1", b = "2" }
}
import {
  for_each = local.ids
  to       = terraform_data.x[each.key]
  id       = each.value
}
resource "terraform_data" "x" {
  for_each = local.ids
}
