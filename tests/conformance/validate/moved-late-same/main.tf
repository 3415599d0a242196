moved {
  from = terraform_data.a
  to   = terraform_data.a
}
resource "terraform_data" "a" {}
