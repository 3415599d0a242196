terraform {
  encryption {
    nope {}
  }
}
