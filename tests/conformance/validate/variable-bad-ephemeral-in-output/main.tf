variable "a" {
  type      = string
  ephemeral = true
  default   = "x"
}
output "o" {
  value = var.a
}
