locals {
  a=1
}
# end