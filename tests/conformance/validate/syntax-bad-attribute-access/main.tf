locals {
  a = var.
  b = 1
}
