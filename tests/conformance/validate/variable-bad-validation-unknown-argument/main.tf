variable "a" {
  validation {
    condition     = var.a != ""
    error_message = "Bad."
    severity      = "warning"
  }
}
