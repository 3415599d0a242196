terraform {
  backend "nope" {}
}
