module "l1" {
  source = "./l1"
}
output "o" {
  value = module.l1.v
}
