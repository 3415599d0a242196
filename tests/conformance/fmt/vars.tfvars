a=1
bbb = "x"
c=[1,2,
3]
d={
x=1
yyy=2
}

# comment
e="${"x"}"
f = <<EOT
text
EOT
