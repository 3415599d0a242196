module "a" {
  source = "./child"
  x      = "abc"
}
