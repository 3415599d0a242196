locals {
  a = jsondecode("{")
  b = regex("(", "x")
  c = cidrhost("x", 1)
  d = file("nope.txt")
  e = formatdate("Q", "2018-01-02T23:12:01Z")
  f = element([], 0)
}
