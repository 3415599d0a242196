resource "terraform_data" "a" {
  for_each = toset(["x"])
}
output "a" {
  value = terraform_data.a.id
}
output "b" {
  value = terraform_data.a[0].id
}
output "c" {
  value = terraform_data.a["nope"].id
}
