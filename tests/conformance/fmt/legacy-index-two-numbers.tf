locals {
  b = x.0.1
}
