terraform {
  required_providers {
    terraform {
      source = "x"
    }
  }
}
