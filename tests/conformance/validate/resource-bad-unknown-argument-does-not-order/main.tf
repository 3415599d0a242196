resource "terraform_data" "a" {
  count = { a = 1 }
}
resource "terraform_data" "d" {
  tpye = terraform_data.a.id
}
