import {
  to       = terraform_data.a
  id       = "x"
  identity = { a = 1 }
}
resource "terraform_data" "a" {}
