data "terraform_remote_state" "x" {
  backend = "local"
  count   = 1
  lifecycle {
    enabled = true
  }
}
