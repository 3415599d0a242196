locals {
  a = foo(1, # one
    2, # two
  3) # three
  b = { x = 1, # one
    yy = 2 # two
  }
}
