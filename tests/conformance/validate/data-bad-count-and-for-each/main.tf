data "terraform_remote_state" "x" {
  backend  = "local"
  count    = 1
  for_each = {}
}
