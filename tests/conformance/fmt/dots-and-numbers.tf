locals {
  a = x.0
  c = 1.0
  d = x . 0
  e = x.y.0.z
}
