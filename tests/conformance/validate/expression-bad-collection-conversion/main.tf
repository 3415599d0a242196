locals {
  a = tolist([1, {}])
  b = tomap({ a = 1, b = [] })
  c = toset("x")
}
