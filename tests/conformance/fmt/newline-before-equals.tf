locals {
  a
  = 1
}
