module "a" {
  source = "./child"
}
removed {
  from = module.a
}
