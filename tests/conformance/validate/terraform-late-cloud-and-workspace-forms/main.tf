terraform {
  cloud {
    workspaces {
      name = "x"
      tags = ["y"]
    }
  }
}
