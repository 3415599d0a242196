import {
  to = terraform_data.a
  id = "x"
}
import {
  to = terraform_data.b["k"]
  id = "y"
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  for_each = toset(["k"])
}
