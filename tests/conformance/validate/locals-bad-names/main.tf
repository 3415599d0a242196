locals {
  "a"  = 1
  1b   = 2
}
