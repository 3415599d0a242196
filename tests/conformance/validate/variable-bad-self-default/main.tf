variable "a" {
  default = var.a
}
