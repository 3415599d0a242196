module "m" {
  source   = "./child"
  for_each = toset(tonumber("x"))
}
