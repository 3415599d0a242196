variable "a" {
  type    = object({ a = string })
  default = { a = "x", b = "y" }
}
variable "b" {
  type    = list(object({ a = string }))
  default = [{ a = "x", c = 1 }]
}
