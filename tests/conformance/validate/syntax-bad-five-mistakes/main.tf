variable "one" {
  type = 
}
locals {
  two = [1, 2
}
output "three" {
  value = "unclosed
}
resource "terraform_data" "four" {
  input = 1 +
}
variable {
}
