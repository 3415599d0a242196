output "a" {
  value = 1
  precondition {
    condition     = true
    error_message = "Always."
  }
}
