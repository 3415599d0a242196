module "a" {
         source/**/     = "./child"
  depends_on = ["x"]
}


module "b" {
  source     = "./child"
  depends_on = terraform_data.x
}

variable "a" {
  type = "string" # why quoted
}
variable " b" {
  # lead
  type = "list"

  default = []
}
