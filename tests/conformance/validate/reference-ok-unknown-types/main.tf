variable "v" {}
locals {
  a = var.v.anything[0].goes
  b = [for x in var.v : x.y]
  c = var.v + 1
}
