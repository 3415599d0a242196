variable "dir" {
  default = "./child"
}
module "a" {
  source = var.dir
}
