variable "a" {
  nullable = create
  default  = null
}
variable "b" {
  nullable = "x"
  default  = null
}
variable "c" {
  nullable = []
}
