resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition = var.v > 0
    }
    postcondition {
      error_message = "x"
    }
  }
}
variable "v" { default = (
1
) }
variable "s" {
  sensitive = true
  default   = "x"
}
import {
  to = terraform_data.a
  id = var.s
}
resource "terraform_data" "a" {}
