output "o" {
  value = 1
}
resource "terraform_data" "r" {}
module "m" {
  source = "./m"
}
locals {
  b = 2
}
provider "terraform" {
  alias = "x"
}
