resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = true
      error_message = "x"
    }
    postcondition {
      condition     = 1 == 1
      error_message = "x"
    }
  }
}
