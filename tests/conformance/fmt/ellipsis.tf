locals {
  a = max([1,2]...)
  b = {for x in y:x=>x...}
  c = foo(a, b ...)
}
