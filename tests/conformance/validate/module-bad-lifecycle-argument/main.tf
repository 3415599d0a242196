module "b" {
  source = "./child"
  lifecycle {
    prevent_destroy = true
  }
}
