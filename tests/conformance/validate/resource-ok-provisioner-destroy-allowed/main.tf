resource "terraform_data" "a" {
  for_each = { a = 1 }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${each.key} ${self.id} ${path.module} ${terraform.workspace}"
  }
}
