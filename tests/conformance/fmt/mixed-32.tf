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

locals {
  a = "${a+b}"
  b = "x${a+b}y"
         c = "x${  a  }y"
  d = "x${foo(a,b)}y"# tail
  e = "x${a?b:c}y"
  f = "x${[1,2][0]}y"
  g = "x${ {a=1}.a }y"
  h = "x%{ if a==b }c%{ endif }"
  i = "x%{if !a}c%{endif}"
  j = "x${a . b}"
}
x=1