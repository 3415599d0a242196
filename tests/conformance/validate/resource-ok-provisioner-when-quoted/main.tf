resource "terraform_data" "a" {
  provisioner "local-exec" {
    command    = "true"
    when       = "destroy"
    on_failure = "continue"
  }
}
