resource "a" "b" {
  c = 1 }
