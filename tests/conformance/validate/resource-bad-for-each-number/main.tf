resource "terraform_data" "a" {
  for_each = 5
}
resource "terraform_data" "b" {
  for_each = "x"
}
