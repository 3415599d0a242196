locals {
  a = uper("x")
  b = nope()
  c = core::nope("x")
  d = foo::bar("x")
}
