locals {
  a = "x ${var.y"
  b = 1
}
