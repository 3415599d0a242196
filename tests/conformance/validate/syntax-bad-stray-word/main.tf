locals {
  a = 1
  stray
  b = 2
}
