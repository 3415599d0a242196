locals {
  a = true ? 1
}
locals {
  b = true ? : 2
}
