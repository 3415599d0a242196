locals {
  a = upper("x"
  b = 3
}
