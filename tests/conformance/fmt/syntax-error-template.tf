locals {
  a = "${"
}
