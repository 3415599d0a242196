module "a" {
  source = "./child"
  count  = 1
}
output "o" {
  value = module.a[0].nope
}
