locals {
  a = "\q"
  b = "\u12"
  c = "\U0000"
}
