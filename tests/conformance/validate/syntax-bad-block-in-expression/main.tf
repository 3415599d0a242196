locals {
  a = block {
    x = 1
  }
}
