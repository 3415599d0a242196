variable "a" {
  tpye = string
}
variable "b" {
  required = true
  value    = 1
}
