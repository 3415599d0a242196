resource "terraform_data" "a" {
  for_each = { a = each.key }
}
