module "a" {
  source = "./${count.index}"
  count  = 1
}
