resource "terraform_data" "x" {}
provider "terraform" {
  alias    = "by"
  for_each = terraform_data.x
}
