variable "o" {
  type    = object({ a = string })
  default = null
}
locals {
  x = var.o.b
}
