terraform {
  cloud {
    organization = "x"
    workspaces {
      tags = ["a"]
    }
  }
}
