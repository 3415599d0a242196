module "net" {
  source  = "acme/net/test"
  version = "~> 1.0"
}

module "newest" {
  source = "registry.opentofu.org/acme/net/test//extra"
}
