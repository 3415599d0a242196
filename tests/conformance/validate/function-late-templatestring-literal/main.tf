locals {
  a = templatestring("x", {})
}
