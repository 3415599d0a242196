terraform {
  backend "local" "extra" {}
}
