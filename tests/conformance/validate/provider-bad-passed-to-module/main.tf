provider "terraform" {
  nope = 1
}
provider "terraform" {
  alias = "b"
  bad   = 1
}
module "c" {
  source = "./child"
  providers = {
    terraform = terraform.b
  }
}
