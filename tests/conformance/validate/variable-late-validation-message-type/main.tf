variable "a" {
  default = "x"
  validation {
    condition     = var.a == "y"
    error_message = ["list"]
  }
}
