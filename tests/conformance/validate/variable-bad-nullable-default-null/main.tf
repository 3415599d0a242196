variable "a" {
  type     = string
  default  = null
  nullable = false
}
