terraform {
  backend "local" {}
  cloud {
    organization = "x"
    workspaces {
      name = "y"
    }
  }
}
