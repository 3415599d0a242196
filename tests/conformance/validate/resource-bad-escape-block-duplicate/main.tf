resource "terraform_data" "a" {
  _ {
    input = 1
  }
  _ {
    triggers_replace = 1
  }
}
