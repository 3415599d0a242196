variable "a" {
  validation {
    condition = var.a != ""
  }
  validation {
    error_message = "No condition."
  }
  validation {}
}
