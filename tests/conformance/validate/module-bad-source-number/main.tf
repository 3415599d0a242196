module "a" {
  source = ["./child"]
}
