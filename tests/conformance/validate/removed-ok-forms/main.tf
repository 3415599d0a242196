removed {
  from = terraform_data.gone
}
removed {
  from = module.gone
  lifecycle {
    destroy = true
  }
}
removed {
  from = module.x.terraform_data.gone
  lifecycle {
    destroy = false
  }
}
