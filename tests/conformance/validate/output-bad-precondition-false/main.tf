locals { v = 1 }
output "o" {
  value = local.v
  precondition {
    condition     = local.v > 3
    error_message = "Too small."
  }
}
