variable "old" {
  default    = null
  deprecated = "Use new."
}
