module "1a" {
  source = "./child"
}
module "a b" {
  source = "./child"
}
