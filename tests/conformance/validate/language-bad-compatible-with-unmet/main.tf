language {
  compatible_with {
    opentofu = ">= 99"
  }
}
locals {
  a = local.nope
}
