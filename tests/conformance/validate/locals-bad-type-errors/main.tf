locals {
  a = "x" + 1
  b = [1, 2][5]
  c = { a = 1 }.b
  d = upper([])
}
