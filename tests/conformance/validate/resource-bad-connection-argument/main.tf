resource "terraform_data" "a" {
  connection {
    host = "x"
    nope = 1
  }
  provisioner "remote-exec" {
    inline = ["true"]
  }
}
