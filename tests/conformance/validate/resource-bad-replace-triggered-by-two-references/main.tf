resource "terraform_data" "b" {
  count = 2
}
resource "terraform_data" "c" {}
resource "terraform_data" "a" {
  lifecycle {
    replace_triggered_by = [terraform_data.b[terraform_data.c.id]]
  }
}
