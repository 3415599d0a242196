resource "terraform_data" "a" {
  count = "many"
}
resource "terraform_data" "b" {
  count = []
}
resource "terraform_data" "c" {
  count = true
}
