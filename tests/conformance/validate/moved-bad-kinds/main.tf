moved {
  from = terraform_data.a
  to   = module.a
}
moved {
  from = module.a
  to   = terraform_data.a
}
