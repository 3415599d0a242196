variable "e" {
  ephemeral = true
  default   = "x"
}
resource "terraform_data" "a" {
  input            = { list = ["a", var.e] }
  triggers_replace = "y-${var.e}"
}
