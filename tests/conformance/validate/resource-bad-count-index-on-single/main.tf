resource "terraform_data" "a" {}
output "x" {
  value = terraform_data.a[0].id
}
