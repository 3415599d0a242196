locals {
  a = upper([])
  b = length(5)
  c = keys(["a"])
  d = sum(["x"])
  e = tonumber("abc")
}
