locals {
  regions = { a = 1, b = 2 }
}
provider "terraform" {
  alias    = "by"
  for_each = local.regions
}
resource "terraform_data" "x" {
  for_each = { a = 1 }
  provider = terraform.by[each.key]
}
