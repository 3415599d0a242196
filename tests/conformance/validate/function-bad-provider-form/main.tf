locals {
  a = provider::fn(1)
}
