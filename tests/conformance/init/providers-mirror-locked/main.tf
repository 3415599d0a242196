terraform {
  required_providers {
    two = {
      source  = "registry.opentofu.org/acme/two"
      version = ">= 0.1.0"
    }
  }
}
