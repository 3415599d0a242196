locals {
  a = 1+2
  b = 1-2
  c = 1*2/3%4
  d = -1
  e = - 1
  f = !true
  g   = ! true
  h = a&&b||c
  i = a==b
  j = a!=b
  k = a<b&&c>=d
  l = a?b:c
  m = a ? b:c
  n = (1+2)*3
  o = 1 -1
  p = 1 - -1
  q = 1--1
  r = a-b
  s = a -b
  t = [-1,- 2]
  u = foo(-1)
  v = !(a)
  w = !!a
  x = a && !b
  y = {a=-1}
  z = a[-1]
}

data "terraform_remote_state" "x" {
  backend = "local"
}
data "terraform_remote_state"  "x" {
  backend = "local"
}
