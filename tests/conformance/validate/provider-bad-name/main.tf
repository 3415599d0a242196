provider "terraform.other" {}
provider "Terraform" {}
