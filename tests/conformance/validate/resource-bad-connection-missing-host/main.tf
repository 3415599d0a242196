resource "terraform_data" "a" {
  connection {
    type = "ssh"
  }
  provisioner "remote-exec" {
    inline = ["true"]
  }
}
