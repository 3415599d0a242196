variable "v" { default = 1 }
locals { l = 1 }
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  depends_on = [terraform_data.a, var.v, local.l]
}
resource "terraform_data" "c" {
  count      = 2
  depends_on = [terraform_data.b]
}
resource "terraform_data" "d" {
  depends_on = [terraform_data.c[0]]
}

locals {
  a = x [0]
  b = x[ 0 ]
  c = x . y
  d = x[*] . y
  e = x.*.y
  f = x[ * ].y
  g = x["a"] [ "b" ]
  h = x[y [0]]
  i = x.0.y
  j = x[0][1][*]
  k = [ [1] [0] ]
}
# end