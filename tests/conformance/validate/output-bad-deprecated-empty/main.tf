output "a" {
  value      = 1
  deprecated = ""
}
