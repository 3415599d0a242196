terraform {
  required_providers {
    one = {
      source  = "registry.opentofu.org/acme/one"
      version = "~> 1.0, != 1.1"
    }
    two = {
      source = "registry.opentofu.org/acme/two"
    }
  }
}
