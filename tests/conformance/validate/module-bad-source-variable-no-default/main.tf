variable "dir" {}
module "a" {
  source = var.dir
}
