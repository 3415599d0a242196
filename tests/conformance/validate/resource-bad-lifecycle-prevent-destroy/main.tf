resource "terraform_data" "a" {
  for_each = { a = 1 }
  lifecycle {
    prevent_destroy = each.key == "a"
  }
}
resource "terraform_data" "b" {
  lifecycle {
    prevent_destroy = "maybe"
  }
}
