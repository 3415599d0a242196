locals {
  a = <<EOT text
x
EOT
}
