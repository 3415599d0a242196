check {
  assert {
    condition     = true
    error_message = "x"
  }
}
