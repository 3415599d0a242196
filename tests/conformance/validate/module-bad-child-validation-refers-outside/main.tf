module "a" {
  source = "./child"
  v      = 1
}
