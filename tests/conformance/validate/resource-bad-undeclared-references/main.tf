resource "terraform_data" "a" {
  input = [
    var.nope,
    local.nope,
    terraform_data.nope.id,
    module.nope.out,
    data.terraform_remote_state.nope.outputs,
  ]
}
