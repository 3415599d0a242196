output "a" {
  value      = 1
  depends_on = terraform_data.x
}
output "b" {
  value      = 1
  depends_on = ["terraform_data.x"]
}
output "c" {
  value      = 1
  depends_on = [1 + 2]
}
resource "terraform_data" "x" {}
