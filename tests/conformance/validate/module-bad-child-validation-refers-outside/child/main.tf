variable "v" {
  validation {
    condition     = var.v > var.nope
    error_message = "x"
  }
}
