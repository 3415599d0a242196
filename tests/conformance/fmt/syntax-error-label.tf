resource "a" = 1
