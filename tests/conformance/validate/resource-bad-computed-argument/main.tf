resource "terraform_data" "a" {
  output = "x"
}
resource "terraform_data" "b" {
  id = "x"
}
