run "x" {
  assert {
    condition     = output.o == 1
    error_message = "x"
  }
}
