resource "terraform_data" "a" {
  provisioner "chef" {}
}
resource "terraform_data" "b" {
  provisioner "puppet" {}
}
