variable "l" {
  type = list(object({ a = number }))
}
locals {
  a = var.l[*].b
  b = var.l.*.c
}
