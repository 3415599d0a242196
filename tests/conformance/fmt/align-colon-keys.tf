locals {
  a = { x : 1, yy : 2 }
  b = {
    x : 1
    yyyy : 2
    zz = 3
  }
  c = {
    "x": 1
    "yyyy" :2
  }
}
