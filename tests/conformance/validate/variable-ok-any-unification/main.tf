variable "a" {
  type    = map(any)
  default = { x = 1, y = "b", z = true }
}
