variable "o" {
  type = object({ a = string, l = list(object({ x = number })) })
}
locals {
  a = var.o.b
  b = var.o.l[0].y
  c = var.o.a.z
  d = var.o.l.x
}
