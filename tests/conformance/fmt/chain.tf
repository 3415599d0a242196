locals {
  a = foo(x) ["a"] . b [0] . c
  b = {a=1} . a
  c = [1,2] [0]
}
