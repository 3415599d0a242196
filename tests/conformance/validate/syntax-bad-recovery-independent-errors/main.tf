variable "a" {
  nope = 1
}
output "b" {
  nope = 2
}
resource "terraform_data" "c" {
  input = )
}
locals {
  d = 1
}
