terraform {
  required_providers {
    one = {
      source  = "registry.opentofu.org/acme/one"
      version = "~> 7.0"
    }
  }
}
