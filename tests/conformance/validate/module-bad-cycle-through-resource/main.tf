resource "terraform_data" "r" {
  input = module.a.out
}
module "a" {
  source = "./child"
  v      = terraform_data.r.id
}
