module "a" {
  source = "./child"
}
module "a" {
  source = "./child"
}
