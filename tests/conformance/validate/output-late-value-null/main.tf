output "a" {
  value = null
}
