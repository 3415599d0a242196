variable "v" { default = 1 }
resource "terraform_data" "b" {}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${var.v} ${terraform_data.b.id}"
  }
}
