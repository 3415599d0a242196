resorce "terraform_data" "x" {}
foo {}
