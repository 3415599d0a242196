resource "terraform_data" "1a" {}
resource "terraform_data" "a b" {}
resource "terraform_data" "" {}
resource "terraform data" "x" {}
