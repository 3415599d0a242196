locals {
  a=1
  bbb = 2 # c

  c = [
  1,
  ]
}
