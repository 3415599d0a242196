terraform {
  encryption {
    state {
      nope = 1
    }
  }
}
