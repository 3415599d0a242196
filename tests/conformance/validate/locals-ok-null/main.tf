locals {
  a = null
  b = local.a == null ? "x" : local.a
}
