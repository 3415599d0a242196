resource "terraform_data" "a" {
  count = count.index
}
