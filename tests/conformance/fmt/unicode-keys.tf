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
