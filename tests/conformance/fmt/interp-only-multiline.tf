locals {
  a = "${
    var.x
  }"
  b = "${join(",", [
    "a",
    "b",
  ])}"
  c = "${cond ?
  1 : 2}"
}
