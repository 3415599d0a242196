resource "terraform_data" "a" {
  connection {
    host = var.nope
  }
  provisioner "remote-exec" {
    inline = ["true"]
  }
}
