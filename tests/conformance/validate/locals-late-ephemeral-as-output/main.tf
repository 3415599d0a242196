variable "e" {
  ephemeral = true
  default   = "x"
}
locals {
  x = { y = var.e }
}
output "o" {
  value = local.x
}
