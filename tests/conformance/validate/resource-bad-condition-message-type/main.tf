locals { v = 1 }
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = local.v > 0
      error_message = local.nope
    }
  }
}
