#no space
//no space
locals {
  a = 1#x
  b = 2//y
  c = 3/*z*/
}
#
//
##
#!shebang
