resource "terraform_data" "b" {
  depends_on = [terraform_data.a, module.x]
}
