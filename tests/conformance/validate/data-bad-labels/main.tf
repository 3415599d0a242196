data "terraform_remote_state" {
  backend = "local"
}
data {}
