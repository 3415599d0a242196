module "whole" {
  source = "http://@HTTP@/archives/net-1.0.0.zip"
}

module "part" {
  source = "http://@HTTP@/archives/net-1.0.0.zip//extra"
}
