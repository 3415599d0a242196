locals {
  a = local.nope
  b = var.nope
  c = module.nope.x
  d = terraform_data.nope.id
}
