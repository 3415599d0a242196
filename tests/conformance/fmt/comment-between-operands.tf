locals {
  a = (1 + # plus
  2)
  b = [
    1 /* a */ + /* b */ 2,
  ]
  c = foo(/* none */)
}
