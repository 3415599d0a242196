variable "a" {
  default = "x"
  validation {
    condition     = "${var.a}"
    error_message = "Not a bool."
  }
}
