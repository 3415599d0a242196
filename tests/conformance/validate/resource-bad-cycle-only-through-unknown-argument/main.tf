resource "terraform_data" "a" {
  nope = [terraform_data.b]
}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a]
}
