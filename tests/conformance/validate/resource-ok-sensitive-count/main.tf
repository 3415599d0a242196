variable "n" {
  type      = number
  sensitive = true
  default   = 1
}
resource "terraform_data" "a" {
  count = var.n
}
