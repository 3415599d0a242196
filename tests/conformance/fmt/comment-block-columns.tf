resource "x" "y" { # c1
  a = 1 # c2
  b { # c3
    c = 1 # c4
    ddd = 1 # c5
  } # c6
  e = 1 # c7
} # c8
