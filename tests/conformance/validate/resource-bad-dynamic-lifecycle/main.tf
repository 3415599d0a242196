resource "terraform_data" "a" {
  dynamic "lifecycle" {
    for_each = [1]
    content {
      prevent_destroy = true
    }
  }
}
