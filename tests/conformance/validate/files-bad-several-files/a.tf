locals {
  a = local.nope1
}
