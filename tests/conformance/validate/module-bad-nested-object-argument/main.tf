module "a" {
  source = "./child"
  conf = {
    list = [
      { name = "a", port = "http" },
    ]
  }
}
