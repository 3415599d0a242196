locals {
  a = upper()
  b = upper("a", "b")
  c = replace("a", "b")
}
