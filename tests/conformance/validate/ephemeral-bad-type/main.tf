ephemeral "terraform_data" "x" {}
