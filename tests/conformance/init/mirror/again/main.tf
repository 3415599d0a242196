terraform {
  required_providers {
    plain = {
      source  = "mirror.example.com/acme/plain"
      version = ">= 0.1, < 1"
    }
  }
}
