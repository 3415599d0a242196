locals {
  a = var.x ? var.y : var.z
  b = var.x?var.y:var.z
  c = var.x ? [
  var.y] : var.z
  d = var.x ? [1,
    2] : [
  3]
}
