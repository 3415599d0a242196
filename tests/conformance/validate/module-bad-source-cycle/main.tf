locals {
  a = local.b
  b = local.a
}
module "a" {
  source = local.a
}
