check "c" {
  data "terraform_remote_state" "scoped" {
    backend = "local"
    count   = 1
    lifecycle {
      postcondition {
        condition     = self.outputs != null
        error_message = "x"

    }
  }
  assert {
    condition     = data.terraform_remote_state.scoped.outputs != null
    error_message = "x"
  }
}
      }