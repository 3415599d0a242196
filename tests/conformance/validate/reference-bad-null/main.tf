locals {
  a = null.x
  b = "x${null}"
  c = [for x in null : x]
}
