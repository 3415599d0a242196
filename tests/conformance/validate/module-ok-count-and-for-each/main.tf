module "a" {
  source = "./child"
  count  = 2
  v      = count.index
}
module "b" {
  source   = "./child"
  for_each = { x = 1 }
  v        = each.value
}
output "o" {
  value = concat(module.a[*].out, [module.b["x"].out], [for m in module.b : m.out])
}
