locals {
  a = type(1)
}
