variable "a" {
  type    = number
  default = "12"
}
variable "b" {
  type    = string
  default = 5
}
variable "c" {
  type    = list(string)
  default = [1, true, "x"]
}
variable "d" {
  type    = set(string)
  default = ["a", "a"]
}
variable "e" {
  type    = map(number)
  default = { a = "1" }
}
