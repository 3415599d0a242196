module "a" {
  source = "./child"
  token  = "x"
}
locals {
  t = module.a.token
}
