locals {
  keys = { a = 1 }
}
provider "terraform" {
  alias    = "by"
  for_each = local.keys
}
resource "terraform_data" "x" {
  for_each = local.keys
  provider = terraform.by[each.key]
}
