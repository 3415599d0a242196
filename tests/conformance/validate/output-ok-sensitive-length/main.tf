variable "s" {
  sensitive = true
  default   = "x"
}
output "a" {
  value     = length(var.s)
  sensitive = true
}
