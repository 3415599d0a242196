resource "terraform_data" "a" {
  input {
    x = 1
  }
}
resource "terraform_data" "b" {
  settings {
    x = 1
  }
}
