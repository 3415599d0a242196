locals {
  nested {
    a = 1
  }
}
