variable "a" {
  validation {
    condition     = var.a != ""
    error_message = "x"
  }
}
