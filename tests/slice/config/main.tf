terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

locals {
  releases = { for name in ["alpha", "beta"] : name => upper(name) }
}

resource "time_static" "release" {
  triggers = merge(local.releases, { count = tostring(length(local.releases)) })
}
