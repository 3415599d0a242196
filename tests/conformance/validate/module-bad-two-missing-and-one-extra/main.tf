module "m" {
  source = "./child"
  c      = 1
}
module "n" {
  source = "./child"
  a      = 1
  b      = "not a number"
}
