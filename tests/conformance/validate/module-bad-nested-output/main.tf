module "a" {
  source = "./one"
}
output "o" {
  value = module.a.two.out
}
