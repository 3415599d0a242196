resource "terraform_data" "r" {
  lifecycle {
    prevent_destroy = true
  }
}
