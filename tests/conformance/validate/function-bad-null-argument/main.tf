locals {
  a = upper(null)
  b = split(",", null)
}
