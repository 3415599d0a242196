terraform {
  required_providers {
    nope = {
      source = "registry.opentofu.org/acme/nope"
    }
  }
}
