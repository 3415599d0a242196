module "a" {
  source   = "./child"
  for_each = { k = 1 }
}
output "o" {
  value = module.a["k"].nope
}
output "p" {
  value = module.a.k.nope
}
