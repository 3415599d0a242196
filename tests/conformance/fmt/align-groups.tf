locals {
  a = 1
  long_name = 2

  b = 3
  # comment splits?
  longer_name_here = 4
  c = 5
  d = [
    1,
  ]
  e = 6
  ffffffff = 7
}
