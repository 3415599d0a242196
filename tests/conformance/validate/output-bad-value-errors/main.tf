output "a" {
  value = var.nope
}
output "b" {
  value = local.nope
}
output "c" {
  value = 1 + "x"
}
