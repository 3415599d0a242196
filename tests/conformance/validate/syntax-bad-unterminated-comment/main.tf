locals {
  a = 1
}
/* open
