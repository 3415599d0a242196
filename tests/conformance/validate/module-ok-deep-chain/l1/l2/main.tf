module "l3" {
  source = "./l3"
}
output "v" {
  value = module.l3.v
}
