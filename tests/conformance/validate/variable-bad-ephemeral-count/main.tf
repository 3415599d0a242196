variable "a" {
  type      = number
  ephemeral = true
  default   = 1
}
resource "terraform_data" "x" {
  count = var.a
}
