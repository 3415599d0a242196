resource "terraform_data" "a" {
  input = self.input
  connection {
    host = self.nope
  }
  provisioner "remote-exec" {
    inline = ["x"]
  }
}
