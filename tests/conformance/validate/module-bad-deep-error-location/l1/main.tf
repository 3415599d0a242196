module "l2" {
  source = "./l2"
}
