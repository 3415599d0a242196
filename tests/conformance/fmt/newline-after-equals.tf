locals {
  a =
  1
}
