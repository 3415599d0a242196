variable "v" {
  type = string
}
output "out" {
  value = upper(var.v)
}
