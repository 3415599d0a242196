locals {
  a = <<EOT
never ends
}
