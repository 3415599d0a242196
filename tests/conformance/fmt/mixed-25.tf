locals {
  a = templatefile("${path.module}/t.tftpl", { x = 1/*x*/, list = ["a"] })
}

check "c" {
  assert {
    condition     = path.module != ""
    error_message = "x"
  }
  }
check "c" {
  assert {
    condition     = path.module != "" # tail
    error_message = "x"
  }
}
