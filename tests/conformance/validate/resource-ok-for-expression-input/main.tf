resource "terraform_data" "a" {
  input = [for x in ["a", "b"] : { name = x }]
}
