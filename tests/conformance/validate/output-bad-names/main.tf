output "1a" {
  value = 1
}
output "a b" {
  value = 1
}
