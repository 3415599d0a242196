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
variable "v" { default = 1 }
