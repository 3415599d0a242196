resource "terraform_data" "x" {}
module "a" {
  source     = "./child"
  depends_on = [terraform_data.x]
}
