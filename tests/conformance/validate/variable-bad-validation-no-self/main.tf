variable "a" {
  validation {
    condition     = true
    error_message = "Never mentions it."
  }
}
