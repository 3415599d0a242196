module "b" {
  source   = "./child"
  for_each = {}
  count    = 1
}
