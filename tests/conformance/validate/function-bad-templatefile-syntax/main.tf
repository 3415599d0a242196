locals {
  a = templatefile("t.tftpl", {})
}
