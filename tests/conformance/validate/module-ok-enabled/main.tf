module "b" {
  source = "./child"
  lifecycle {
    enabled = false
  }
}
