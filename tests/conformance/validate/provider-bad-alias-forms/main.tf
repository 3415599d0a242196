provider "terraform" {
  alias = var.x
}
provider "terraform" {
  alias = "1 bad"
}
provider "terraform" {
  alias = ""
}
