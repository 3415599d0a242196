output "a" {
  value = 1
  extra {}
}
