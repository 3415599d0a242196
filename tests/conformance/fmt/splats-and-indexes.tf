locals {
  a = x [0]
  b = x[ 0 ]
  c = x . y
  d = x[*] . y
  e = x.*.y
  f = x[ * ].y
  g = x["a"] [ "b" ]
  h = x[y [0]]
  i = x.0.y
  j = x[0][1][*]
  k = [ [1] [0] ]
}
