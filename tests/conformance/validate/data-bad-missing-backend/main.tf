data "terraform_remote_state" "x" {
  config = {}
}
