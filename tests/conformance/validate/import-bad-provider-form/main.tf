import {
  to       = terraform_data.a
  id       = "x"
  provider = "terraform"
}
resource "terraform_data" "a" {}
