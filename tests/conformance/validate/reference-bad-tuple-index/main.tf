locals {
  t = [1, 2]
  a = local.t[2]
  b = local.t.x
  c = local.t["y"]
}
