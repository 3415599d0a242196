module "a" {
  source = "./child"
  lifecycle {
    enabled = "x"
  }
}
