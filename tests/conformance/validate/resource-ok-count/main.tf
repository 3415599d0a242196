resource "terraform_data" "a" {
  count = 2
  input = count.index
}
resource "terraform_data" "z" {
  count = "3"
}
locals {
  first = terraform_data.a[0].id
  all   = terraform_data.a[*].id
}
