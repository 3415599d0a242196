locals {
  b = local.nope2
}
