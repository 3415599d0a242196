language {
  nope = 1
}
