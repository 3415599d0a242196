check "c" {
  assert {
    condition     = path.module != ""
    error_message = "x"
  }
}
check "c" {
  assert {
    condition     = path.module != ""
    error_message = "x"
  }
}
