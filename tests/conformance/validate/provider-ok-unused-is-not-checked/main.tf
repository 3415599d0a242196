provider "terraform" {
  nope = 1
  extra {}
}
