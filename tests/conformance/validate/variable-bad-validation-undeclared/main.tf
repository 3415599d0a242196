variable "a" {
  validation {
    condition     = var.a != var.nope
    error_message = "Bad."
  }
}
