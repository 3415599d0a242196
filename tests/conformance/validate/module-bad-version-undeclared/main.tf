module "a" {
  source  = "./child"
  version = var.v
}
