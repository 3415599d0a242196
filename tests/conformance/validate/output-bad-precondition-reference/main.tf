output "a" {
  value = 1
  precondition {
    condition     = self > 1
    error_message = "x"
  }
}
