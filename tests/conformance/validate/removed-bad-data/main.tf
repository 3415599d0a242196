removed {
  from = data.terraform_remote_state.x
}
