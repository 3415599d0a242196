module "a" {
  source = "./child"
  providers = {
    nope = terraform
  }
}
