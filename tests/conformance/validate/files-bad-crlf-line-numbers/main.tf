locals {
  a = 1
  b = local.nope
}
