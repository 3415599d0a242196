variable "x" {
  type = set(string)
}
resource "terraform_data" "r" {
  for_each = var.x
}
