locals {
  a = try(local.nope, 1)
  b = can(var.nope)
}
