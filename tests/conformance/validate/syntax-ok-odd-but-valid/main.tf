variable a {}
locals {
  b = [
    1,
    2,
  ]
  c = { "x" : 1, y = 2 }
  d = (
    1
    +
    2
  )
  e = true ? 1 : 2 # c
  f = "a ${ var.a } b" // d
  /* g */ g = 1
  h = <<-EOT
    x ${"y"}
  EOT
  i = [for x in [1] : x]
  j = var.a[*]
  k = -1
  l = !true
  m = "\u00e9"
  n = max(1, 2, )
  o = core::upper("x")
}
