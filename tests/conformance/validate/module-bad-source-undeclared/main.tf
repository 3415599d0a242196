module "a" {
  source = var.nope
}
module "b" {
  source = local.nope
}
