resource "terraform_data" "a" {
  for_each = { a = "x" }
  input    = each.value + 1
}
