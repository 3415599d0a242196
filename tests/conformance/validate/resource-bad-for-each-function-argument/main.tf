resource "terraform_data" "a" {
  for_each = toset([for x in ["a"] : { k = x }])
}
