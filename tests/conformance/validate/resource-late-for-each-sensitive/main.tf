variable "s" {
  sensitive = true
  default   = ["a"]
}
resource "terraform_data" "a" {
  for_each = toset(var.s)
}
