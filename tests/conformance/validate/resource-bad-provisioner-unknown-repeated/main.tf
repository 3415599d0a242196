resource "terraform_data" "a" {
  provisioner "nope" {}
  provisioner "nope" {}
  provisioner "other" {}
}
resource "terraform_data" "b" {
  provisioner "nope" {}
}
