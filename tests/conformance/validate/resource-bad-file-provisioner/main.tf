resource "terraform_data" "a" {
  connection {
    host = "x"
  }
  provisioner "file" {
    destination = "/tmp/x"
  }
  provisioner "file" {
    source      = "a"
    content     = "b"
    destination = "/tmp/x"
  }
  provisioner "file" {
    source = "a"
  }
}
