locals {
  a = 1
  b = local.a + 1
  c = { x = local.b, y = [local.a] }
}
locals {
  d = "${local.c.x}"
}
locals {}
