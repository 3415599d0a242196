output "x" {
  value = count.index
}
resource "terraform_data" "a" {
  input = count.index
}
