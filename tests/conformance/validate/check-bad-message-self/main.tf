check "c" {
  assert {
    condition     = local.nope
    error_message = self.id
  }
}
