locals {
  a = 1 ++ 2
}
locals {
  b = 1 & 2
}
locals {
  c = true and false
}
