resource "terraform_data" "a${1}" {}
