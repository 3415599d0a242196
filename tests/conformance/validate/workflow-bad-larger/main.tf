variable "environments" {
  type = map(object({
    size = optional(number, "x")
  }))
}
locals {
  active = { for name, e in var.environments : name => e if e.enabled }
}
resource "terraform_data" "node" {
  for_each = local.activ
  inputs   = each.key
}
output "o" {
  value = terraform_data.nodes[*].id
}
