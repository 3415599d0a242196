provider {}
provider "terraform" "x" {}
