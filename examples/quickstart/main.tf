# A small estate that needs no account and no installation: every provider in it is part of groma.

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

resource "random_pet" "estate" {}

resource "terraform_data" "instance" {
  for_each = toset(local.instances)
  input    = "${random_pet.estate.id}/${each.key}"
}

resource "local_file" "inventory" {
  filename = "${path.module}/inventory.txt"
  content  = join("", [for name, instance in terraform_data.instance : "${name} ${instance.id}\n"])
}

output "estate" {
  value = random_pet.estate.id
}

output "instances" {
  value = [for name, instance in terraform_data.instance : instance.output]
}
