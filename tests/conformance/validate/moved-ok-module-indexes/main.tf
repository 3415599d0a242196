moved {
  from = module.m
  to   = module.m[0]
}
moved {
  from = module.n["a"]
  to   = module.n["b"]
}
module "m" {
  source = "./child"
  count  = 1
}
module "n" {
  source   = "./child"
  for_each = { b = 1 }
}
