variable "a" {
  type      = string
  ephemeral = true
  default   = "x"
}
resource "terraform_data" "x" {
  input = var.a
}
