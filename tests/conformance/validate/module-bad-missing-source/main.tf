module "b" {
  name = 1
}
