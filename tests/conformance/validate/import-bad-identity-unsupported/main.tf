import {
  to       = terraform_data.a
  identity = { a = 1 }
}
resource "terraform_data" "a" {}
