removed {
  from = terraform_data.a
  to   = terraform_data.b
}
removed {
  from = terraform_data.b
  lifecycle {
    prevent_destroy = true
  }
}
