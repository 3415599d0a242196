provider "terraform" {
  nope = 1
}
resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = ["not", "a", "string"]
  }
}
module "c" {
  source = "./child"
}
