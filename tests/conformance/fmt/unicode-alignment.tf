locals {
  é = 1
  ab = 2
  日本語 = 3
  x = "日本語" # c1
  y = "abc" # c2
  z = "👍👍" # c3
}
