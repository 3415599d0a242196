# This file is maintained automatically by "tofu init".
# Manual edits may be lost in future updates.

provider "registry.opentofu.org/acme/two" {
  version     = "0.1.5"
  constraints = ">= 0.1.0"
}
