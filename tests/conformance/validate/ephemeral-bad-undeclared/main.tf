output "o" {
  value = ephemeral.foo.bar
}
