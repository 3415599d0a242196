variable "v" {}
terraform {
  required_providers {
    a = { source = var.v }
  }
}
