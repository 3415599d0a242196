resource "terraform_data" "a" {
  lifecycle {
    create_after_destroy = true
    nope {}
  }
}
