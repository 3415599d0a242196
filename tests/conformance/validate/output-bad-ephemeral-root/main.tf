output "a" {
  value     = "x"
  ephemeral = true
}
