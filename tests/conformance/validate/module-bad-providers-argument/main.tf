module "a" {
  source    = "./child"
  providers = []
}
module "b" {
  source    = "./child"
  providers = { x = "y" }
}
