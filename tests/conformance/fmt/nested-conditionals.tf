locals {
  a = x?y?1:2:z?3:4
  b = x ? y ? 1 : 2 : 3
  c = !x?1:2
  d = -x?1:2
  e = x==1?2:3
}
