# ünïcödé 日本語 👩‍🚀
locals {
  a = 1 # ü
  日本 = 2 # 日本
  bb = "日本" # after wide
  ccc = "👨‍👩‍👧" # family
  dd = "e&#769;" # entity
  é = "é" # accents
}
