module "a" {
  source = "./child"
  count  = 1
  lifecycle {
    enabled = true
  }
}
