resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "true"
    when    = update
  }
  provisioner "local-exec" {
    command    = "true"
    on_failure = retry
  }
}
