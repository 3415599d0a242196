locals {
  a = "${x.y.*.id}"
  b = ["${x.y.*.id}"]
  c = "${element(x.y.*.id, 0)}"
}
