resource "terraform_data" "a" {}
provider "terraform" {
  x = terraform_data.a.id
}
