locals {
  a = "x" - 1
  b = [] + 1
  c = !5
  d = -"x"
  e = true < 1
  f = null + 1
}
