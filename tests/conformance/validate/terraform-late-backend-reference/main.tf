terraform {
  backend "local" {
    path = terraform_data.x.id
  }
}
resource "terraform_data" "x" {}
