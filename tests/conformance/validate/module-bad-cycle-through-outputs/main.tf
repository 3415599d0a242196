module "a" {
  source = "./child"
  v      = module.b.out
}
module "b" {
  source = "./child"
  v      = module.a.out
}
