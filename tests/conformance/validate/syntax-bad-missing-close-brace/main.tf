variable "a" {
  type = string
