variable "a" {
  type = string
  type = number
}
