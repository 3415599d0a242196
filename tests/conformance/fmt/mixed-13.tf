data "terraform_remote_state" "a" {
  count   = 2
  backend = "local"
}
data "terraform_remote_state" "b"  {
  for_each = toset(["x"])
  backend  = "local"
}
output "o" {
  value = [data.terraform_remote_state.a[0].outputs, data.terraform_remote_state.b["x"].outputs]
}
