module "a" {
  source     = "./child"
  depends_on = [terraform_data.nope]
}
