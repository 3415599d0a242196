resource "terraform_data" "a" {}
locals {
  a = resource.terraform_data.a.id
}
