locals {
  a = templatefile("${path.module}/t.tftpl", { x = 1 })
}
