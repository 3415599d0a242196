output "v" {
  value = "deep"
}
