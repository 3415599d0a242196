resource "terraform_data" "a" {
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host = "a"
    }
    connection {
      host = "b"
    }
  }
}
