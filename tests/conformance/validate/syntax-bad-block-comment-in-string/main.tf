locals {
  a = "ok"
  b = # nothing
}
