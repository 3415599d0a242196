locals {
  a = provider::nope::fn(1)
}
