locals {
  a = <<EOT
${var.x
EOT
  b = 1
}
