variable "v" { default = true }
resource "terraform_data" "a" {
  lifecycle {
    create_before_destroy = var.v
  }
}
