variable "a" {
  type    = list(any)
  default = [1, {}]
}
