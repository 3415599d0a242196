module "a" {
  source = "./child"
  _ {
    x = 1
  }
}
