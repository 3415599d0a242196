resource "terraform_data" "a" {
  input = each.key
}
resource "terraform_data" "b" {
  count = 1
  input = each.value
}
output "x" {
  value = each.key
}
