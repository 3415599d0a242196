output "a" {
  value      = 1
  depends_on = [output.a]
}
