locals {
  a = [for x in y]
}
locals {
  b = {for x in y : x}
}
locals {
  c = [for x of y : x]
}
