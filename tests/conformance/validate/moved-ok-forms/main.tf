moved {
  from = terraform_data.old
  to   = terraform_data.new
}
moved {
  from = terraform_data.new[0]
  to   = terraform_data.many["a"]
}
moved {
  from = module.a
  to   = module.b
}
moved {
  from = module.b.terraform_data.x
  to   = terraform_data.moved_up
}
resource "terraform_data" "new" {}
resource "terraform_data" "many" {
  for_each = toset(["a"])
}
resource "terraform_data" "moved_up" {}
module "b" {
  source = "./child"
}
