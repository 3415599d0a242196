variable "a" {
  type    = string
  default = "x"
}
output "o" {
  value = var.a
}
resource "terraform_data" "r" {
  input = 1
}
locals {
  l = 1
}
