locals {
  a = [[[[[
  1
  ]]]]]
  b = {c={d={e={
  f = 1
  }}}}
  g = foo(bar({
  x = [{
  y = 1
  }]
  }))
}
