variable "a" {
  type       = string
  default    = "x"
  deprecated = "Use b."
}
