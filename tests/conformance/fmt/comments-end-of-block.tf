resource "x" "y" {
  a = 1
      # dangling
}
resource "x" "z" {
      # only
}
resource "x" "w" { # c
}
