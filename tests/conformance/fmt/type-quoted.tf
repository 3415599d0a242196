variable "a" { type = "string" }
variable "b" {
  type = "list"
}
variable "c" {
  type = "map"
}
variable "d" { type = "number" }
variable "e" { type = "bool" }
variable "f" { type = "any" }
variable "g" { type = "list(string)" }
variable "h" { type = list }
variable "i" { type = map }
variable "j" { type = set }
variable "k" { type = "${string}" }
variable "l" {
  type = "string" # comment
  default = "x"
}
