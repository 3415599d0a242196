module "a" {
  source = "./nowhere"
}
