module "child" {
  source = "./child"
  name   = "x"
}
output "o" {
  value = module.child.out
}
