variable "x" {}
locals {
  n = tonumber(var.x)
}
resource "terraform_data" "r" {
  count = local.n
}
