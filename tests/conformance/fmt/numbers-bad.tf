locals {
  f = .5
}
