module "m" {
  source = "./child"
}
locals {
  a = module.m["x"]
  b = module.m.a.b.c
}
