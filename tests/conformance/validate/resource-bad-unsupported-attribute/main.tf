resource "terraform_data" "a" {}
output "x" {
  value = terraform_data.a.nope
}
output "y" {
  value = terraform_data.a.id.nope
}
