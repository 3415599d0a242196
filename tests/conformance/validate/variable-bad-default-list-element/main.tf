variable "a" {
  type    = list(number)
  default = [1, "x", 3]
}
variable "b" {
  type    = map(object({ n = number }))
  default = { k = { n = "x" } }
}
