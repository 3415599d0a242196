variable "k" {
  default = "x"
}
locals {
  a = { var.k = 1 }
}
