locals {
  a = {
    x = tonumber("a")
    y = {
      z = tonumber("b")
    }
  }
  b = [
    tobool("x"),
    tobool("y"),
  ]
}

resource "terraform_data" "a" {
}
resource "terraform_data" "b" {
  input            = { id  = terraform_data.a.id, out = terraform_data.a.output }
  triggers_replace = [terraform_data.a.id]
}
resource "terraform_data" "c" {}
