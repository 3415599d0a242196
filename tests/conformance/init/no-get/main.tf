module "a" {
  source = "acme/net/test"
}
