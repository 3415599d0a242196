terraform {
  required_providers {
    a = 5
    b = { source = 5 }
    c = { nope = "x" }
    d = { source = "a/b/c/d/e" }
    e = { version = "latest" }
    f = ["x"]
  }
}
