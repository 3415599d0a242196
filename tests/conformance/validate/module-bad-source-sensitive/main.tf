variable "s" {
  default   = "./child"
  sensitive = true
}
module "a" {
  source = var.s
}
