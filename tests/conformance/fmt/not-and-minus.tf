locals {
  a = !x&&!y
  b = -x - -y
  c = - ( x )
  d = ! ( x )
  e = x*-1
  f = [!a,-b]
  g = {a=!b,c=-d}
  h = "x${-a}y${!b}"
  i = a ? -1 : !b
  j = foo(-a, !b)
}
