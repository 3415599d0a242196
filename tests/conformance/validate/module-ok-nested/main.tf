module "a" {
  source = "./one"
}
output "o" {
  value = module.a.deep
}
