data "terraform_remote_state" "x" {
  backend    = "local"
  provider   = terraform
  depends_on = [terraform_data.a]
}
resource "terraform_data" "a" {}
