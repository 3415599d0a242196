module "a" {
  source = jsondecode("{")
}
