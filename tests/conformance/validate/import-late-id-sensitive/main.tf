variable "s" {
  sensitive = true
  default   = "x"
}
import {
  to = terraform_data.a
  id = var.s
}
resource "terraform_data" "a" {}
