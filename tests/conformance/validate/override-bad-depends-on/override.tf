resource "terraform_data" "r" {
  depends_on = [terraform_data.a]
}
