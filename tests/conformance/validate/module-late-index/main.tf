module "child" {
  source = "./child"
}
output "o" {
  value = module.child[0].out
}
