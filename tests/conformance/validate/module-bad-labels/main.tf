module {
  source = "./child"
}
module "a" "b" {
  source = "./child"
}
