resource "terraform_data" "a" {
  provisioner "local-exec" {
    command     = ["not", "a", "string"]
    environment = "x"
  }
}
