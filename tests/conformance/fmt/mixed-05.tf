locals {
  a = "tabs	inside"
  b = "escapes \n \t \" \\ \u00e9"
  c = "$${x} %%{y}"
  d = "a ${ b } c ${d}"
  e = "%{ if x }y%{else}z%{endif}"
  f = "%{for a in b}${a}%{endfor}"
  g = ""
  h = "${""}"
}
  j = "{"
  k = "# not comment"
  l = "// nor /* this */"
  i = "a ${"b ${"c"}"}"

action "x" "y" {}
list "x" "y" {}
