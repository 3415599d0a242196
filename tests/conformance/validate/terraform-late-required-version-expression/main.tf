variable "v" {}
terraform {
  required_version = var.v
}
