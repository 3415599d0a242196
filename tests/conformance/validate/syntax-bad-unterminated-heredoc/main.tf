locals {
  a = <<EOT
text
}
