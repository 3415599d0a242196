locals {
  a = "%{ if true }x%{ endfor }"
}
locals {
  b = "%{ endif }"
}
