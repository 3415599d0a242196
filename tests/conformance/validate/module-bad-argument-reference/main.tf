module "a" {
  source = "./child"
  x      = var.nope
  y      = local.nope
}
