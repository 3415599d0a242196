variable "v" { default = 1 }
check "health" {
  assert {
    condition     = var.v > 0
    error_message = "v must be positive, is ${var.v}."
  }
  assert {
    condition     = data.terraform_remote_state.x.outputs != null
    error_message = "none"
  }
  data "terraform_remote_state" "x" {
    backend = "local"
  }
}
