module "a" {
  source = "./a"
}

module "b" {
  source = "./a/../b"
}
