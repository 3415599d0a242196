locals { v = 1 }
resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = local.v > 2
      error_message = "Known to be false."
    }
  }
}
