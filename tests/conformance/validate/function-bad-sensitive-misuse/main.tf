variable "s" {
  sensitive = true
  default   = "x"
}
resource "terraform_data" "a" {
  for_each = toset([sensitive("a")])
}
