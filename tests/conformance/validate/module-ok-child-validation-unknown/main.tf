resource "terraform_data" "r" {}
module "a" {
  source = "./child"
  x      = terraform_data.r.id
}
