output "o" {
  value = data.terraform_remote_state.nope.outputs
}
output "p" {
  value = data.terraform_remote_state
}
output "q" {
  value = data
}
