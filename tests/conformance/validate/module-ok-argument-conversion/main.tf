module "child" {
  source = "./child"
  n      = "12"
  l      = [1, 2]
  o      = { b = true, extra = 1 }
}
