variable "a" {
  type    = string
  default = "x"
  const   = true
}
