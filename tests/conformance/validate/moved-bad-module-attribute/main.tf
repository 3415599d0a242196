moved {
  from = module.m.output
  to   = module.n
}
