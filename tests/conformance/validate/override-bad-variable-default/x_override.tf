variable "a" {
  default = "abc"
}
