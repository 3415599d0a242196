module "a" {
  source = "./child"
  x      = sensitive(["a"])
}
