locals {
  a = foo
  b = var
  c = local
  d = module
  e = path
  f = terraform
}
