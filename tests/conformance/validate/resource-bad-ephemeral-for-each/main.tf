variable "e" {
  ephemeral = true
  type      = map(string)
  default   = {}
}
resource "terraform_data" "a" {
  for_each = var.e
}
