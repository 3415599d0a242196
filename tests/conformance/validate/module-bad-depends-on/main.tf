module "a" {
  source     = "./child"
  depends_on = ["x"]
}
module "b" {
  source     = "./child"
  depends_on = terraform_data.x
}
