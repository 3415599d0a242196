module "a" {
  source = "./child"
  v      = "x"
}
module "b" {
  source = "./child"
  v      = module.a.out
}
