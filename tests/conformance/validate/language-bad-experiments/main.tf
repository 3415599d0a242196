language {
  experiments = [nope]
}
