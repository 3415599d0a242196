variable "m" {
  type = map(object({ a = number }))
}
locals {
  a = var.m["k"].b
  b = var.m.k.c
  c = [for k, v in var.m : v.d]
}
