locals {
  a = nofunc(1)
}
