resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = terraform_data.b
  }
}
resource "terraform_data" "b" {
  lifecycle {
    replace_triggered_by = [var.x]
  }
}
resource "terraform_data" "c" {
  lifecycle {
    replace_triggered_by = ["terraform_data.b"]
  }
}
variable "x" { default = 1 }
