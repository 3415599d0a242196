locals {
  a = [for x in [1] : y]
  b = { for k, v in { a = 1 } : k => w }
}
