variable "a" {
  type = "string" # why quoted
}
variable "b" {
  # lead
  type = "list"

  default = []
}
