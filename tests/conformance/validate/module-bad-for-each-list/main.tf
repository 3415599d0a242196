module "b" {
  source   = "./child"
  for_each = ["a"]
}
