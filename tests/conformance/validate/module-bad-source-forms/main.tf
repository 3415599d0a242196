module "a" {
  source = "child"
}
