variable "v" {
  default = {}
}
locals {
  a = try(var.v.x, "d")
  b = can(var.v.y)
  c = try(tonumber("x"), 0)
}
