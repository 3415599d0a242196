locals {
  a = 1.50
  b = 1e3
  c = 1E+3
  d = 0.0
  e = 007
  f=-1.5e-3
}
