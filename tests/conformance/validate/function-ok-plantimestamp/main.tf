locals {
  a = plantimestamp()
  b = timestamp()
  c = uuid()
}
