provider "terraform" {
  alias    = "by"
  for_each = null + 1
}
