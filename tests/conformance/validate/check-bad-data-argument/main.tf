check "c" {
  data "terraform_remote_state" "x" {
    backend = "local"
    nope    = 1
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs != null
    error_message = "x"
  }
}
