module "a" {
  source = "./child"
  v      = module.a.out
}
