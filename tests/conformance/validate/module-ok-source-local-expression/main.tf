locals {
  base = "./"
}
module "a" {
  source = "${local.base}child"
}
module "b" {
  source = join("", [local.base, "child"])
}
