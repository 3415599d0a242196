locals {
  a-b=1
  a--b = 2
  a_b-c1 = 3
}
