resource "terraform_data" "a" {
  lifecycle {
    precondition {
      condition     = other.a.id != ""
      error_message = "x"
    }
  }
}
