locals {
  a = true ? [1] : { a = 1 }
  b = true ? "x" : [1]
}
