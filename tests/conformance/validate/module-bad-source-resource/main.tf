resource "terraform_data" "x" {}
module "a" {
  source = terraform_data.x.id
}
