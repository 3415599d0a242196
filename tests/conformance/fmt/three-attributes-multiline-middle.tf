locals {
  aaaaaa = 1
  b = [
  ]
  cc = 3
  d = {}
  eeeeeeee = <<X
X
  f = 1
  gg = 2
}
