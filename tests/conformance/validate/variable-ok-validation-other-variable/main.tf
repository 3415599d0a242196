variable "a" {
  validation {
    condition     = var.a != var.b
    error_message = "Must differ from b, which is ${var.b}."
  }
}
variable "b" {}
