resource "terraform_data" "a" {
  for_each = toset(["x", "y"])
  input    = each.key
}
resource "terraform_data" "b" {
  for_each = { x = 1, y = 2 }
  input    = "${each.key}=${each.value}"
}
resource "terraform_data" "c" {
  for_each = terraform_data.b
  input    = each.value.id
}
resource "terraform_data" "d" {
  for_each = {}
}
locals {
  x = terraform_data.a["x"].id
  y = [for k, v in terraform_data.b : v.id]
}
