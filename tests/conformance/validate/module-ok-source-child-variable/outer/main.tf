variable "which" {
  type = string
}
module "x" {
  source = var.which
}
