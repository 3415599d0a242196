terraform {
  required_providers {
    plain = {
      source = "mirror.example.com/acme/plain"
    }
  }
}

module "again" {
  source = "./again"
}
