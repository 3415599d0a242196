variable "a" {
  type    = map(list(any))
  default = { x = [1, "a"], y = [{}] }
}
