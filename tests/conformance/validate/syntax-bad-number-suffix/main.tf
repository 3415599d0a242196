locals {
  a = 10GB
}
