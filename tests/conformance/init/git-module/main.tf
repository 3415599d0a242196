module "tagged" {
  source = "git::file://@REPOSITORY@?ref=v1"
}

module "nested" {
  source = "git::file://@REPOSITORY@//nested"
}
