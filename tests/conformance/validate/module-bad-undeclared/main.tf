output "o" {
  value = module.nope.out
}
module "yes" {
  source = "./child"
}
