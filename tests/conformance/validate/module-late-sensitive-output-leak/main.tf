module "a" {
  source = "./child"
}
output "o" {
  value = module.a.s
}
