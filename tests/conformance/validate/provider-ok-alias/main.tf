provider "terraform" {
  alias = "other"
}
resource "terraform_data" "x" {
  provider = terraform.other
}
