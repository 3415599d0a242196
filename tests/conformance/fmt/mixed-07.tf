resource "terraform_data" "a" {  /* t */
  provisioner "local-exec" {
    command = "true"
    when    = update
  }
  provisioner "local-exec" {
    command    = "true"
    on_failure = retry
  }
}

   data "terraform_remote_state" "x" {
  config = {}
}
