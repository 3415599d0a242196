variable "v" { default = 1 }
resource "terraform_data" "a" {
  input = 1
  lifecycle {
    precondition {
      condition     = var.v > 0
      error_message = "v is ${var.v}."
    }
    postcondition {
      condition     = self.output != null
      error_message = "No output: ${self.id}"
    }
  }
}
