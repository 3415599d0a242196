provider "terraform" {
  alias = "x"
  nope  = var.undeclared
}
