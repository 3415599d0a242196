resource "terraform_data" "a" {
  provisioner {}
  provisioner "local-exec" "x" {
    command = "true"
  }
}
