module "child" {
  source = "./child"
  nope   = "x"
  naem   = "y"
}
