check "c" {
  assert {
    condition     = each.key == count.index
    error_message = "x"
  }
}
