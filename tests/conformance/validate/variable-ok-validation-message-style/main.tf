variable "a" {
  validation {
    condition     = var.a != ""
    error_message = "no capital and no full stop"
  }
}
