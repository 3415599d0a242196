resource "terraform_data" "a" {
  for_each = { a = 1 }
  input    = each.nope
}
