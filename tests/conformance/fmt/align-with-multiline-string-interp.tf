locals {
  a = "x${
    foo
  }y"
  bbbb = 1
  c = 2
}
