provider "terraform" {
  alias = "x"
}
module "m" {
  source = "./child"
  providers = {
    terraform.a = terraform.x
  }
}
