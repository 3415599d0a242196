resource "terraform_data" "r" {
  lifecycle {
    prevent_destroy = false
    ignore_changes  = [input]
  }
}
