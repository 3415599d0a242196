module "l2" {
  source = "./l2"
}
output "v" {
  value = module.l2.v
}
