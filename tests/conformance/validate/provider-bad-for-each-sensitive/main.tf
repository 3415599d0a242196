provider "terraform" {
  alias    = "by"
  for_each = sensitive({ a = 1 })
}
