locals {
  a = { x = 1
  b = 3
}
