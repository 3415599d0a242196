variable "token" {
  ephemeral = true
}
output "token" {
  value = var.token
}
