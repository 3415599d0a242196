variable "a" { default = var.b }
variable "b" { default = local.x }
variable "c" { default = terraform_data.x.id }
