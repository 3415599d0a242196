variable "a" {
  default   = "x"
  sensitive = true
  validation {
    condition     = var.a == "y"
    error_message = "is ${var.a}"
  }
}
