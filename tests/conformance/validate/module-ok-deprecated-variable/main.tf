module "a" {
  source = "./child"
  old    = "x"
}
