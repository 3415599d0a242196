terraform {
  required_providers {
    Terraform = { source = "terraform.io/builtin/terraform" }
  }
}
