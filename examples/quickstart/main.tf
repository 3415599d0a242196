# The smallest configuration that shows something: no provider has to be installed for it.

variable "services" {
  description = "Services to lay out, and how many instances each needs."
  type        = map(object({ replicas = optional(number, 2) }))
  default = {
    web    = { replicas = 3 }
    worker = {}
  }

  validation {
    condition     = alltrue([for service in var.services : service.replicas > 0])
    error_message = "Every service needs at least one instance."
  }
}

locals {
  instances = flatten([
    for name, service in var.services : [
      for n in range(service.replicas) : format("%s-%02d", name, n)
    ]
  ])
}

resource "terraform_data" "instance" {
  for_each = toset(local.instances)
  input    = upper(each.key)
}

output "instances" {
  value = [for name, instance in terraform_data.instance : instance.output]
}
