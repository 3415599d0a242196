resource "terraform_data" "a" {
  lifecycle {
    ignore_changes = ["*"]
  }
}
resource "terraform_data" "b" {
  lifecycle {
    ignore_changes = "all"
  /*x*/}
}
resource "terraform_data" "c" {
  lifecycle {
    ignore_changes = [input, input]
   }
}
resource "terraform_data" "d" {
  lifecycle {
  }
}

locals {
  a = { x : 1, yy : 2 }
  b = {
    x : 1
    yyyy : 2
    zz = 3
  }
  c = {
    "${x}y": 1
    "yyyy" :2
  }
}
