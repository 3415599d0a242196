output "a" {
  value = output.a
}
