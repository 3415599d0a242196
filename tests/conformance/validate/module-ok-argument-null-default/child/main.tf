variable "n" {
  type     = number
  nullable = false
  default  = 1
}
