module "a" {
  source   = "./${each.key}"
  for_each = toset(["child"])
}
