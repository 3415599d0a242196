locals {
  a = 1
}
output "v" {
  value = local.b
}
