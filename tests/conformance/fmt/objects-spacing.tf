locals {
  a = {}
  b = { }
  c = {
  }
  d = {a=1}
  e = {a=1,b=2}
  f = { a = 1, b = 2, }
  g = {a={b={c=1}}}
  h = {
    a=1,
    bbb=2,
  }
  i = { "a" = 1, "b"=2 }
  j = {
  a = 1 }
  k = { a = 1
  }
}
