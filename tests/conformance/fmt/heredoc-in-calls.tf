locals {
  a = trimspace(<<-EOT
  text
  EOT
  )
      b = [<<A
x
A
,
<<B
y
B
]
  c = { k = <<E
v
E
  }
}
