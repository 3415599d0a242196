resource "terraform_data" "a" {
  module   = 1
  resource = 2
}
