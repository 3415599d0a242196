locals {
  a = 1
  long_name = <<EOT
x
EOT
  b = 2
  longer_name = 3
}
