module "two" {
  source = "../two"
  v      = "x"
}
output "deep" {
  value = module.two.out
}
