variable "a" {}
variable "b" {
  type = number
}
