resource "terraform_data" "x" {
  input = [var.a, var.b]
}
