variable "a" {
  type    = number
  default = 1
}
