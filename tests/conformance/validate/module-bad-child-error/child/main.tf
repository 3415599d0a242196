resource "terraform_data" "x" {
  input = var.nope
}
output "o" {
  value = local.nope
}
