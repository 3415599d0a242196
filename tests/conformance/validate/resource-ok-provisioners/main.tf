resource "terraform_data" "a" {
  connection {
    type = "ssh"
    host = "example.com"
    user = "me"
  }
  provisioner "local-exec" {
    command     = "echo ${self.id}"
    working_dir = path.module
    interpreter = ["bash", "-c"]
    environment = { A = "b" }
    quiet       = true
    when        = create
    on_failure  = continue
  }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${self.id}"
  }
  provisioner "remote-exec" {
    inline = ["true"]
    connection {
      host = "other.example.com"
    }
  }
  provisioner "file" {
    content     = "x"
    destination = "/tmp/x"
  }
}
