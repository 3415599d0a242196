module "net" {
  source  = "registry.opentofu.org/acme/net/test"
  version = ">= 3.0"
}
