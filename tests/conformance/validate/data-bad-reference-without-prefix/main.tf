data "terraform_remote_state" "x" {
  backend = "local"
}
output "o" {
  value = terraform_remote_state.x.outputs
}
