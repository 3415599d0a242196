module "a" {
  source = "./child"
  locals {}
  provider {}
}
