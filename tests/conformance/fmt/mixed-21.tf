variable "keep" { default = true }
resource "terraform_data" "a" {
  input = 1
  lifecycle {
  /**/  create_before_destroy = true
    prevent_destroy       = false
    ignore_changes        = [input]
  }
}
resource "terraform_data" "b" {
  lifecycle {
    ignore_changes       = all
    replace_triggered_by = [terraform_data.a, terraform_data.a.id]
  }
}
resource "terraform_data" "c" {
  lifecycle {
    prevent_destroy = var.keep
    destroy         = false
  }
}
