resource "terraform_data" "a" {
  input = { x = 1 }
}
output "o" {
  value = [terraform_data.a.output.x, terraform_data.a.output.nope, terraform_data.a.input.nope]
}

locals {
  m = {
    "é" = 1
    "e&" = 2
    "日本" = 3
    abcdef = 4
    "👍🏽" = 5
    "👨‍👩‍👧" = 6 # family
  "é" = 7 # decomposed
    "ｆｕｌｌ" = 8 # wide
  }
}
