locals {
  a = "x${[1]}"
  b = "x${{}}"
}
