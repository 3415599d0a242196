resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = var.nope1 && local.nope2
      error_message = "x ${var.nope3}"
    }
  }
}
