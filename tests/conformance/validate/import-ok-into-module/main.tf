import {
  to = module.m.terraform_data.a
  id = "x"
}
module "m" {
  source = "./child"
}
