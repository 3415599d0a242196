module "child" {
  source = "./child"
  n      = null
}
