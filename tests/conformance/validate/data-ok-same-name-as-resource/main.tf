resource "terraform_data" "x" {}
data "terraform_remote_state" "x" {
  backend = "local"
}
