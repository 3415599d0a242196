resource "terraform_data" "a" {
  for_each = { for i, v in ["a", "b"] : v => i }
  input    = each.value + 1
}
