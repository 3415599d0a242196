check "c" {
  data "terraform_remote_state" "scoped" {
    backend = "local"
  }
  assert {
    condition     = data.terraform_remote_state.scoped.outputs != null
    error_message = "x"
  }
}
output "o" {
  value = data.terraform_remote_state.scoped.outputs
}
