variable "x" {
  type = string
  validation {
    condition     = length(var.x) > 3
    error_message = "Too short."
  }
}
