locals {
  first = 1
  b     = local.frist
}
