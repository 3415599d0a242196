variable "x" {
  type = number
  validation {
    condition     = var.x > 10
    error_message = "Must be more than ten."
  }
}
