variable "s" {
  sensitive = true
  default   = "x"
}
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.s != ""
      error_message = "is ${var.s}"
    }
  }
}
