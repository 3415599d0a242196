locals {
  a = "${var.x}" # c
  bb = "${var.y /* in */}"
  c = ("${var.z}")
}
