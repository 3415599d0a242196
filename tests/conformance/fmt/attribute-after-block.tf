resource "x" "y" {
  block {
    a = 1
  }
  b = 1
  ccc = 2
  block {
    a = 1
  }

  ddd = 1
  e = 1
}
