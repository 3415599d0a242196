module "a" {
  source  = "./child"
  version = "1.0.0"
}
