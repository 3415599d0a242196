resource "terraform_data" "a" {
  dynamic "provisioner" {
    for_each = [1]
    labels   = ["local-exec"]
    content {
      command = "true"
    }
  }
}
