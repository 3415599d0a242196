locals {
  a = 0 / 0
}
