variable "a" {
  validation {
    condition     = var.a != var.b
    error_message = "Bad."
  }
}
variable "b" {
  validation {
    condition     = var.b != var.a
    error_message = "Bad."
  }
}
