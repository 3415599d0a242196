terraform {
  required_providers {
    one = {
      source  = "registry.example.com/acme/one"
      version = "~> 1.0, != 1.1"
    }
    two = {
      source = "registry.example.com/acme/two"
    }
  }
}
