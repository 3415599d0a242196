variable "v" { default = [] }
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.v
      error_message = "x"
    }
  }
}
