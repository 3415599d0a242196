locals {
  a = [for x in 5 : x]
  b = [for x in "s" : x]
}
