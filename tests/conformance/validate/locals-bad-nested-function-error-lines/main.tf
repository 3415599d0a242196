locals {
  a = {
    x = tonumber("a")
    y = {
      z = tonumber("b")
    }
  }
  b = [
    tobool("x"),
    tobool("y"),
  ]
}
