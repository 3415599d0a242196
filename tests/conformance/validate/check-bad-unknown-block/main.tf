check "c" {
  resource "terraform_data" "x" {}
  assert {
    condition     = path.module != ""
    error_message = "x"
  }
}
