locals {
  a = "${var.a || var.b}"
  b = ("${var.a}")
  c = !"${var.a}"
  d = "${var.a}" + "${var.b}"
  e = "${var.a}".foo
  f = "${var.a}"[0]
  g = "${-1}"
  h = "${!true}"
}
