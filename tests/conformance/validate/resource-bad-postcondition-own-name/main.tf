resource "terraform_data" "a" {
  lifecycle {
    postcondition {
      condition     = terraform_data.a.id != ""
      error_message = "x"
    }
  }
}
