import {
  to   = terraform_data.a
  id   = "x"
  name = "y"
}
resource "terraform_data" "a" {}
