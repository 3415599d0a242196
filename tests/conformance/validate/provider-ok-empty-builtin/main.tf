provider "terraform" {}
resource "terraform_data" "x" {}
