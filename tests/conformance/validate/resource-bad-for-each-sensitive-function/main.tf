resource "terraform_data" "a" {
  for_each = sensitive({ a = 1 })
}
