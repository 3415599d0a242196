variable "v" { default = 5 }
output "o" {
  value = var.v
  precondition {
    condition     = var.v > 3
    error_message = "Too small."
  }
}
