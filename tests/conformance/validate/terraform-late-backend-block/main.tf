terraform {
  backend "local" {
    workspaces {
      name = "x"
    }
  }
}
