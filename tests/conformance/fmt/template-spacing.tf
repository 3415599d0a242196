locals {
  a = "${a+b}"
  b = "x${a+b}y"
  c = "x${  a  }y"
  d = "x${foo(a,b)}y"
  e = "x${a?b:c}y"
  f = "x${[1,2][0]}y"
  g = "x${ {a=1}.a }y"
  h = "x%{ if a==b }c%{ endif }"
  i = "x%{if !a}c%{endif}"
  j = "x${a . b}"
}
