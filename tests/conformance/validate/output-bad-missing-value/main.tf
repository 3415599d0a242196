output "a" {}
output "b" {
  description = "none"
}
