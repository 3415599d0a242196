locals {
  a = 1
}
