terraform {
  required_providers {
    one = {
      source  = "registry.opentofu.org/acme/one"
      version = "2.0.0-beta1"
    }
  }
}
