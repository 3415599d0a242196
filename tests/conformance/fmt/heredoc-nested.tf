locals {
  a = <<OUTER
${<<INNER
x
INNER
}
OUTER
}
