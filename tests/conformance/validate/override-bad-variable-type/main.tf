variable "a" {
  type    = string
  default = "abc"
}
