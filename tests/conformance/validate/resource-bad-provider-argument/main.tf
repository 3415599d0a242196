resource "terraform_data" "a" {
  provider = 5
}
resource "terraform_data" "b" {
  provider = [terraform]
}
resource "terraform_data" "c" {
  provider = terraform.a.b
}
