data "terraform_remote_state" "x" {
  backend = "local"
}
output "x" {
  value = data.terraform_remote_state.x.nope
}
