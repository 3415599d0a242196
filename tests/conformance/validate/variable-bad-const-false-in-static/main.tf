variable "dir" {
  default = "./child"
  const   = false
}
module "m" {
  source = var.dir
}
