locals {
  a = max("x"...)
  b = max(null...)
}
