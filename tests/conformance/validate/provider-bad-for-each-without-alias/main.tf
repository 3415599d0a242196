provider "terraform" {
  for_each = { a = 1 }
}
