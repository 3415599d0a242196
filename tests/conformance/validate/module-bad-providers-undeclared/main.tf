module "a" {
  source = "./child"
  providers = {
    terraform = terraform.nope
  }
}
