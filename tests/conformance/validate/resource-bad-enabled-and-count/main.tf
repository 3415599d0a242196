resource "terraform_data" "a" {
  count = 1
  lifecycle {
    enabled = true
  }
}
