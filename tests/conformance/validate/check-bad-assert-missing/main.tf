check "c" {
  assert {}
}
