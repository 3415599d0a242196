moved {}
moved {
  from = terraform_data.a
}
moved {
  to = terraform_data.a
}
