output "never_used" {
  value = upper([])
}
