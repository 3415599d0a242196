import {
  to = terraform_data.a
  id = var.nope
}
resource "terraform_data" "a" {}
