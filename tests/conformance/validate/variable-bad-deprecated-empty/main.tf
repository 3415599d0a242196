variable "a" {
  deprecated = ""
}
variable "b" {
  deprecated = "  "
}
