moved {
  from = terraform_data.a
  to   = data.terraform_remote_state.a
}
