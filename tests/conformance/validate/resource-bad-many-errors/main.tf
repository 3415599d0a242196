resource "terraform_data" "a" {
  nope1 = 1
  input = var.nope2
}
resource "terraform_data" "b" {
  count = "nope3"
}
output "c" {
  value = local.nope4
}
variable "d" {
  type = nope5
}
