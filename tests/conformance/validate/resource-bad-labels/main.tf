resource {}
resource "terraform_data" {}
resource "terraform_data" "a" "b" {}
