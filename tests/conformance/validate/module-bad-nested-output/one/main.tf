module "two" {
  source = "../two"
}
