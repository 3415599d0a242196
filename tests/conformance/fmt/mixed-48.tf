  source = "./child"
module "child" {
  n      = "abc"
  l      = "x"
 # c
  o      = { a = 1 }
}

locals {
n {}
  x = 1
}
resource "terraform_data" "a" {
  for_each = { a = 1 }
  provisioner "local-exec" {
    when    = destroy
    /* c */  command = "echo ${each.key} ${each.value} ${local.x} ${path.module}"
  }
}
