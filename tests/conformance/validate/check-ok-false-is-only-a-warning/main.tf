locals { v = 0 }
check "c" {
  assert {
    condition     = local.v > 0
    error_message = "Not positive."
  }
}
