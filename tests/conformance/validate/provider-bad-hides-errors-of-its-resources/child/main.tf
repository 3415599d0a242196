resource "terraform_data" "b" {
  nope = 1
}
