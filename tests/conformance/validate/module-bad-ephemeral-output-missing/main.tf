module "a" {
  source = "./child"
  token  = "x"
}
