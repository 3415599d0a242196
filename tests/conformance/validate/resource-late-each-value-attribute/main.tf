resource "terraform_data" "a" {
  for_each = { a = { x = 1 } }
  input    = each.value.nope
}
