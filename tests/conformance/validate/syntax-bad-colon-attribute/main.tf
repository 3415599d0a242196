locals {
  a: 1
}
