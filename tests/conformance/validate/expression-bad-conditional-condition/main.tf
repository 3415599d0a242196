locals {
  a = 5 ? 1 : 2
  b = null ? 1 : 2
  c = "maybe" ? 1 : 2
}
