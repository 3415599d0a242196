variable "s" {
  type = string
}
locals {
  a = var.s.x
  b = var.s[0]
}
