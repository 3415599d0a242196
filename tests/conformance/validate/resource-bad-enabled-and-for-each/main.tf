resource "terraform_data" "a" {
  for_each = {}
  lifecycle {
    enabled = true
  }
}
