variable "a" {}
variable "b" {}
resource "x" "y" {
  a = 1
  b {
  }
  c = 2
  d {}
  e = 3
}
