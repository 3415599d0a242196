provider "terraform" {
  count      = 1
  depends_on = []
  source     = "x"
}
provider "terraform" {
  alias = "b"
  lifecycle {}
  locals {}
}
