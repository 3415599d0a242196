module "l1" {
  source = "./l1"
}
