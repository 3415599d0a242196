import {
  to = terraform_data.a
  id = "x"
}
import {
  to = terraform_data.b["k"]
  id = "y"
}
resource "terraform_data" "a" {}
resource "terraform_data" "b" {
  for_each = toset(["k"])
}

locals {
  m = {
    "é" = 1
    "日本" = 3
    abcdef = 4
    "👍🏽" = 5
    "👨‍👩‍👧" = 6 # family
    "é" = 7 /*x*/# decomposed
    "ｆｕｌｌ" = 8 # wide
  }
}


