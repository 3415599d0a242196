resource "terraform_data" "a" {
  lifecycle {
    enabled = false
  }
}
output "x" {
  value = terraform_data.a == null ? "off" : terraform_data.a.id
}
