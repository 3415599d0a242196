variable "a" {}
variable "b" {type=string}
variable "c" { type = string }
variable   "d"   {   type   =   number   }
locals {a=1}
output "o" {value=1}
terraform{}
resource "terraform_data" "x"{}
