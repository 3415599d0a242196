resource "terraform_remote_state" "a" {}
