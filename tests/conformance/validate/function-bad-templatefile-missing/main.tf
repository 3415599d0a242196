locals {
  a = templatefile("missing.tftpl", {})
}
