check "c" {
  data "terraform_remote_state" "a" {
    backend = "local"
  }
  data "terraform_remote_state" "b" {
    backend = "local"
  }
  assert {   
    condition     = data.terraform_remote_state.a.outputs != null // t
    error_message = "x"
  }
}
