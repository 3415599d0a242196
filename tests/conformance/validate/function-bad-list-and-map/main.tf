locals {
  a = list("a")
  b = map("a", 1)
}
