locals {
  a = "
"
}
