output "a" {
  value = 1
  postcondition {
    condition     = self != 1
    error_message = "no"
  }
}
