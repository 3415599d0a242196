terraform {
  backend "local" {
    nope = 1
  }
}
