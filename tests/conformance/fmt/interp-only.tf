locals {
  a = "${var.x}"
  b = "${ var.x }"
  c = "${var.x.y[0]}"
  d = "${upper("x")}"
  e = "${1 + 2}"
  f = "${var.a}${var.b}"
  g = "x${var.a}"
  h = "${"nested"}"
  i = ["${var.x}", "${var.y}"]
  j = { "${var.k}" = "${var.v}" }
  k = "${true ? 1 : 2}"
  l = foo("${var.x}")
  m = "${var.x}" == "y"
  n = "${~ var.x ~}"
  o = "${[for x in y : x]}"
  p = "${"${var.x}"}"
}
