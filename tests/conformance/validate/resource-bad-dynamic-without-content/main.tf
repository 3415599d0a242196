resource "terraform_data" "a" {
  dynamic "x" {
    for_each = [1]
  }
}
