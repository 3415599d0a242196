resource "terraform_data" "a" {
  lifecycle {
    enabled = count.index > 0
  }
}
