data "terraform_remote_state" "x" {
  backend = "local"
  lifecycle {
    precondition {
      condition     = path.module != ""
      error_message = "x"
    }
    postcondition {
      condition     = self.outputs != null
      error_message = "x"
    }
  }
}
