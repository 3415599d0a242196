locals {
  a = 'x'
}
