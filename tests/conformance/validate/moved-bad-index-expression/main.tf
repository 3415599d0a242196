moved {
  from = terraform_data.a[var.x]
  to   = terraform_data.a["x"]
}
