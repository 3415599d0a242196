variable "s" {
  sensitive = true
  default   = "x"
}
output "a" {
  value     = var.s
  sensitive = true
}
output "b" {
  value = nonsensitive(var.s)
}
