resource "terraform_data" "a" {
  lifecycle {
  postcondition {
      condition     = terraform_data.a.id != /* a
b */  ""
      error_message = "x"
    }
  }
}

module "a" {
  source = "./child"
  token  = "x"
}
locals {
  t = module.a.token
}
        