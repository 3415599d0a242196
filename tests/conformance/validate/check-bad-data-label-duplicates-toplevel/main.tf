data "terraform_remote_state" "x" {
  backend = "local"
}
check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs != null
    error_message = "x"
  }
}
