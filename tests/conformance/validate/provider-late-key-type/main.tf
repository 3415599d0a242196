provider "terraform" {
  alias    = "by"
  for_each = { a = 1 }
}
resource "terraform_data" "x" {
  provider = terraform.by[[]]
}
