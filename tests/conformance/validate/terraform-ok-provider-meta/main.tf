terraform {
  provider_meta "terraform" {
    x = 1
  }
}
