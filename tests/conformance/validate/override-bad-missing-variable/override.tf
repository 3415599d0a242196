variable "a" {
  default = "y"
}
