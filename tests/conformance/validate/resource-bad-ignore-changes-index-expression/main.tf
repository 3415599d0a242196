variable "i" { default = 0 }
resource "terraform_data" "a" {
  lifecycle {
    ignore_changes = [input[var.i]]
  }
}
