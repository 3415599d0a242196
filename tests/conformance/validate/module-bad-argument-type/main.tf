module "child" {
  source = "./child"
  n      = "abc"
  l      = "x"
  o      = { a = 1 }
}
