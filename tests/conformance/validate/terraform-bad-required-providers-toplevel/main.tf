required_providers {
  a = { source = "x/a" }
}
