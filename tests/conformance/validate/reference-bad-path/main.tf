locals {
  a = path.nope
  b = terraform.nope
  c = terraform.env
  d = tofu.nope
}
