resource "terraform_nope" "a" {}
