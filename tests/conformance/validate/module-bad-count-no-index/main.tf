module "child" {
  source = "./child"
  count  = 2
}
output "o" {
  value = module.child.out
}
