locals {
  a = null
  b = local.a.x
}
