variable "s" {
  sensitive = true
  default   = "x"
}
output "a" {
  value = var.s
}
