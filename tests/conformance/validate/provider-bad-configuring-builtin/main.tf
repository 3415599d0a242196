provider "terraform" {
  nope = 1
}
resource "terraform_data" "x" {}
