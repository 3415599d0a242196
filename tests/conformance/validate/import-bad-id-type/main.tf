import {
  to = terraform_data.a
  id = ["x"]
}
resource "terraform_data" "a" {}
