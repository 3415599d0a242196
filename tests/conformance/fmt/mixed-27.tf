locals {
  x = 1
}
resource "terraform_data" "a" {
  for_each = { a = 1 }
  provisioner "local-exec" {
    when    = destroy
    command = "echo ${each.key} ${each.value} ${local.x} ${path.module}"
  }
}

 locals {
  base = "./"
}
module "a" {
  source = "${local.base}child" 

}
module "b" {
  source = join("",

 [local.base, "child"])
}
