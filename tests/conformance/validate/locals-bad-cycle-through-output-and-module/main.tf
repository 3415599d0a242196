module "m" {
  source = "./child"
  v      = local.a
}
locals {
  a = module.m.out
}
