module "a" {
  source = "./child"
  x      = 5
}
