resource "terraform_data" "a" {
  lifecycle {}
  lifecycle {}
}
