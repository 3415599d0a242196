module "a" {
  source = "./child"
}
locals {
  all  = module.a
  keys = keys(module.a)
}
