module "a" {
  source = "${path.module}/child"
}
module "b" {
  source = terraform.workspace == "default" ? "./child" : "./other"
}
