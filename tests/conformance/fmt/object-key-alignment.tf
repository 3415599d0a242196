locals {
  x = {
    a = 1
    bbbbb = 2
    "cc" = 3
    (d) = 4
    "e${f}" = 5
    g = {
      h = 1
    }
    iiiii = 6
  }
}
