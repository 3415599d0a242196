resource "terraform_data" "a" {
  connection {
    host = self.id
  }
  provisioner "remote-exec" {
    inline = [self.output]
  }
}
