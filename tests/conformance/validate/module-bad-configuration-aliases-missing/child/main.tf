terraform {
  required_providers {
    terraform = {
      source                = "terraform.io/builtin/terraform"
      configuration_aliases = [terraform.a]
    }
  }
}
resource "terraform_data" "r" {
  provider = terraform.a
}
