output {
  value = 1
}
output "a" "b" {
  value = 1
}
