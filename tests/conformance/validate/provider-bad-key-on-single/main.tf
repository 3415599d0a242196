provider "terraform" {
  alias = "one"
}
resource "terraform_data" "x" {
  provider = terraform.one["a"]
}
