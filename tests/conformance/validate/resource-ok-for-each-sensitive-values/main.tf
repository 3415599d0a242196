resource "terraform_data" "a" {
  for_each = { a = sensitive("x") }
  input    = each.value
}
