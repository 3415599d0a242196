module "a" {
  source = "./child"
  settings {
    a = 1
  }
}
