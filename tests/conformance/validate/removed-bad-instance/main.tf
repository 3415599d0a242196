removed {
  from = terraform_data.a[0]
}
removed {
  from = module.a["x"]
}
