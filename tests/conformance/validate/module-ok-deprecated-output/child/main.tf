output "old" {
  value      = 1
  deprecated = "Use new."
}
