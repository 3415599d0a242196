data "terraform_remote_state" "x" {
  backend = "local"
  config = {
    path = "nowhere.tfstate"
  }
  defaults = {
    a = 1
  }
}
output "x" {
  value = data.terraform_remote_state.x.outputs
}
