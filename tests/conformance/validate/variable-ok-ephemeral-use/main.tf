variable "a" {
  type      = string
  ephemeral = true
}
locals {
  b = "x-${var.a}"
}
