variable "a" {
  default = "y"
}
output "o" {
  value = "z"
}
resource "terraform_data" "r" {
  input = 2
}
locals {
  l = 2
}
