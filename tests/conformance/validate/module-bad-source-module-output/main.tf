module "a" {
  source = "./child"
}
module "b" {
  source = module.a.dir
}
