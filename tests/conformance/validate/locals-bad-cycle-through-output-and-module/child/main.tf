variable "v" {}
output "out" {
  value = var.v
}
