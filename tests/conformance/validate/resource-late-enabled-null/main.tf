resource "terraform_data" "a" {
  lifecycle {
    enabled = null
  }
}
