variable "v" { default = true }
resource "terraform_data" "a" {
  lifecycle {
    destroy = var.v
  }
}
