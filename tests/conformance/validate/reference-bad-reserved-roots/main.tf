locals {
  a = template.x
  b = lazy.x
  c = arg.x
}
