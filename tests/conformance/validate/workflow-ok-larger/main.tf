terraform {
  required_version = ">= 1.0"
}

variable "environments" {
  type = map(object({
    size    = optional(number, 1)
    labels  = optional(map(string), {})
    enabled = optional(bool, true)
  }))
  default = {
    dev  = {}
    prod = { size = 3, labels = { tier = "gold" } }
  }
  validation {
    condition     = alltrue([for e in var.environments : e.size > 0])
    error_message = "Sizes must be positive."
  }
}

locals {
  active = { for name, e in var.environments : name => e if e.enabled }
  pairs  = flatten([for name, e in local.active : [for i in range(e.size) : { key = "${name}-${i}", env = name }]])
}

resource "terraform_data" "node" {
  for_each         = { for p in local.pairs : p.key => p }
  input            = merge(local.active[each.value.env].labels, { name = each.key })
  triggers_replace = [each.value.env]

  lifecycle {
    precondition {
      condition     = length(each.key) < 20
      error_message = "Name too long: ${each.key}."
    }
  }
}

module "summary" {
  source = "./summary"
  ids    = values(terraform_data.node)[*].id
  count  = length(local.pairs) > 0 ? 1 : 0
}

output "summary" {
  value = one(module.summary[*].text)
}
