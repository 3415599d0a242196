language {
  edition = tofu1999
}
