locals {
  a = "%{ if true }x"
  b = "%{ for x in [1] }y"
}
