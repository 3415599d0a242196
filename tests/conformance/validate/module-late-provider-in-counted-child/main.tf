module "m" {
  source = "./child"
  count  = 2
}
