resource "terraform_data" "a" {
  _ {
    input = 1
  }
}
