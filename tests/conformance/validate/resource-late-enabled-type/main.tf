resource "terraform_data" "a" {
  lifecycle {
    enabled = "maybe"
  }
}
resource "terraform_data" "b" {
  lifecycle {
    enabled = []
  }
}
