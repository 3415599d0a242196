variable "v" { default = 1 }
yyyyyyy = [1,2]
locals { l = 1 }
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a, var.v, local.l]
}
resource "terraform_data" "c" {
  count      = 2
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.c[0]] // t
}
