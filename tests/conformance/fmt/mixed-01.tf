resource "x" "y" {
  list = [{
    a = 1
    bb = 2
  },
  {
    a = 3
    bb = 4 },
  { a = 5 }]
}

variable "a" {
  type    = number
  default = "abc"
}
variable "b" {
  type    = list(string)
  default = {}
}
variable "c" {
  type    = map(string)
  default = "x"
}
variable "d" {
  type    = bool
  default = "maybe"
}
variable "e" {
  type    /*x*/= object({ a = string })
  default = {}
}
