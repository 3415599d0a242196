variable "e" {
  ephemeral = true
  default   = "x"
}
module "a" {
  source = "./child"
  v      = var.e
}
