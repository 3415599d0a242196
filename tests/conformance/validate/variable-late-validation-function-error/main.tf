variable "a" {
  default = "x"
  validation {
    condition     = tonumber(var.a) > 0
    error_message = "Positive."
  }
}
