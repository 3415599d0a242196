variable "s" {
  sensitive = true
  default   = "x"
}
output "a" {
  value = { list = ["pre-${var.s}"] }
}
