locals {
  a = { x = 1, x = 2 }
}
