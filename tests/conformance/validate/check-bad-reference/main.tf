check "c" {
  assert {
    condition     = local.nope
    error_message = "x"
  }
}
