provider "terraform" {
  alias    = "by"
  for_each = ["a"]
}
